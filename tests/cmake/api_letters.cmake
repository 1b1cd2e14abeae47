# Dead letters and replay jobs over HTTP.
tarry_test(test_api_letters FOLDER unit LABEL "unit;http" ROOMS ops dlq base SOURCES support/sample_letter.c)
tarry_nats_test(test_nats_api LABEL "dlq;http" TIMEOUT 120 ROOMS ops dlq base LIBRARIES support_nats
    SOURCES support/http_scene.c support/http_client.c support/config_text.c)
