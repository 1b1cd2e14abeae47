# Redelivery: reading streams, what waits, and the whole loop with a real broker and a real nats-server (java, as for kafka.cmake).
tarry_test(test_waiting FOLDER unit LABEL "unit;dlq" ROOMS dlq base)
tarry_test(test_redelivery_text FOLDER unit LABEL "unit;dlq" ROOMS ops dlq bridge store scheduler base)
tarry_test(test_redelivery_lately FOLDER unit LABEL "unit;dlq" ROOMS ops dlq bridge store scheduler base)
tarry_test(test_letter_sink FOLDER unit LABEL "unit;dlq" ROOMS bridge store scheduler base)
tarry_test(test_redelivery_targets FOLDER unit LABEL "unit;dlq" ROOMS ops dlq bridge store scheduler base)
tarry_nats_test(test_nats_reader ROOMS dlq base LIBRARIES support_nats)
foreach(stem test_kafka_redelivery test_kafka_redelivery_crash)
    tarry_nats_test(${stem} ROOMS ops dlq bridge store scheduler base LIBRARIES support_nats support_kafka
        SOURCES support/redelivery_scene.c support/config_text.c TIMEOUT 900)
endforeach()
