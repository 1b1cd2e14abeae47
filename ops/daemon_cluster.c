/* Which Kafka cluster this is: asked once, before the first partition is looked up; then it is known whose the dead letters of this process are. */
#include "bridge/source.h"
#include "ops/daemon_state.h"

bool daemon_cluster_know(struct daemon *daemon, int timeout_ms, struct error *error)
{
    if (daemon->cluster[0] != '\0') {
        return true;
    }
    if (!source_cluster_id(daemon->source, timeout_ms, daemon->cluster, sizeof(daemon->cluster))) {
        return error_set(error, ERROR_UNAVAILABLE, "the cluster's id is not known yet");
    }
    if (!daemon_letters_start(daemon, error)) {
        daemon_fail(daemon, error);
        return false;
    }
    return true;
}
