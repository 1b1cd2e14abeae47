# The record of outcomes: as JSON and in memory; and the producer of the history topic, against librdkafka's mock cluster.
tarry_test(test_history FOLDER unit LABEL "unit;schedules" ROOMS ops dlq base)
tarry_test(test_history_sink FOLDER unit LABEL "mock;schedules" ROOMS bridge base LIBRARIES support_kafka)
