/*
 * YAML to a tree of texts, by libyaml's event parser: the only file that knows libyaml.
 *
 * A strict subset: one document, maps with unique plain or quoted keys, lists, scalars. Anchors, aliases, tags, merge
 * keys and a second document are refused: nothing in a configuration should mean more than it says. Scalars stay text
 * (`on`, `1e3`, `~` mean themselves): the schema types them.
 */
#ifndef TARRY_OPS_YAML_TREE_H
#define TARRY_OPS_YAML_TREE_H

#include "base/span.h"
#include "ops/config_node.h"
#include "ops/config_problems.h"

#define YAML_TREE_BYTES_MAX (1024 * 1024)
#define YAML_TREE_DEPTH_MAX 8     /* the schema needs 4 */
#define YAML_TREE_NODES_MAX 20000 /* keys and values */

/* Parses `bytes` (at most YAML_TREE_BYTES_MAX; UTF-8). `file` names them in places and must live as long as the arena.
 * True: *root is a map (empty for an empty document); there may be problems all the same, then the nodes concerned are
 * BROKEN. False: it is no YAML, or not a map, or beyond a bound; the problem says where. Linear but for duplicates
 * (square of a map's keys). */
bool yaml_tree_parse(struct span bytes,
                     const char *file,
                     struct config_arena *arena,
                     struct config_problems *problems,
                     struct config_node **root);

#endif
