# Kafka in and out. Label "mock": against librdkafka's mock cluster, no broker needed. Label "kafka": against a real Apache Kafka that the test starts
# (java, and the jars that `scripts/lib/kafka.sh fetch` gets).

# What tests need to speak to Kafka themselves: a real broker, its administration, a plain client; and drivers for our source and sink.
add_library(support_kafka STATIC
    support/kafka_broker.c support/kafka_client.c support/kafka_topics.c support/source_watch.c support/sink_watch.c support/sink_scene.c)
target_compile_definitions(support_kafka PRIVATE TARRY_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_include_directories(support_kafka PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(support_kafka PRIVATE tarry_options PUBLIC room_bridge room_base PkgConfig::CMOCKA PkgConfig::RDKAFKA)

tarry_test(test_kafka_conf FOLDER unit LABEL unit ROOMS bridge base)
tarry_test(test_sink_headers FOLDER unit LABEL unit ROOMS bridge base SOURCES support/sample_record.c LIBRARIES PkgConfig::RDKAFKA)
tarry_test(test_topic_facts FOLDER unit LABEL mock ROOMS bridge base)
tarry_test(test_source FOLDER unit LABEL mock ROOMS bridge base LIBRARIES support_kafka)
tarry_test(test_sink FOLDER unit LABEL mock ROOMS bridge base LIBRARIES support_kafka)
tarry_test(test_sink_transaction FOLDER unit LABEL mock ROOMS bridge base LIBRARIES support_kafka TIMEOUT 300)
tarry_test(test_sink_copies FOLDER unit LABEL mock ROOMS bridge base LIBRARIES support_kafka)
tarry_test(test_kafka_source FOLDER integration LABEL kafka ROOMS bridge base LIBRARIES support_kafka TIMEOUT 300)
tarry_test(test_kafka_isolation FOLDER integration LABEL kafka ROOMS bridge base LIBRARIES support_kafka TIMEOUT 300)
tarry_test(test_kafka_members FOLDER integration LABEL kafka ROOMS bridge base LIBRARIES support_kafka TIMEOUT 300)
tarry_test(test_kafka_sink FOLDER integration LABEL kafka ROOMS bridge base LIBRARIES support_kafka TIMEOUT 300)
tarry_test(test_kafka_transactions FOLDER integration LABEL "kafka;exactly_once" ROOMS bridge base LIBRARIES support_kafka TIMEOUT 300)
