/* The table of verbs as documents: for man/tarry.1 and docs/cli.md, which a test keeps in step. Pure. */
#ifndef TARRY_CLI_VERB_DOCS_H
#define TARRY_CLI_VERB_DOCS_H

#include "base/buffer.h"

/* The sections "COMMANDS" and "FLAGS OF SEVERAL COMMANDS" of tarry(1), as mdoc. The verbs of `tarry dlq` have a page of their own and are named only. */
void verb_docs_mdoc(struct buffer *mdoc);

/* All help pages as Markdown. */
void verb_docs_markdown(struct buffer *markdown);

#endif
