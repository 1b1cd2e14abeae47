# tarry dlq replay, park, purge, edit, jobs: pace, record and job by themselves; and the program against a real Kafka and a real nats-server.
foreach(stem dlq_rate dlq_job dlq_replay_record)
    tarry_test(test_${stem} FOLDER unit LABEL "unit;dlq" ROOMS cli ops dlq bridge base)
endforeach()

foreach(name test_dlq_replay test_dlq_jobs test_dlq_purge)
    tarry_nats_test(${name} SOURCES support/replay_scene.c ROOMS dlq base LIBRARIES support_nats support_kafka
        ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>" TIMEOUT 600)
    add_dependencies(${name} tarry)
endforeach()
