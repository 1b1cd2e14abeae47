# Nack topics: a real Kafka (support_kafka) and real nats-servers (support_nats) together.
tarry_nats_test(test_kafka_nack LABEL "dlq;nack;kafka" ROOMS ops dlq bridge base LIBRARIES support_kafka support_nats SOURCES support/config_text.c)
