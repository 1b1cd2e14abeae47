# Logs, secrets, health, signals, the service manager.
tarry_test(test_log_limit FOLDER unit LABEL unit ROOMS ops base)
tarry_test(test_log_record FOLDER unit LABEL unit ROOMS ops dlq bridge base SOURCES support/sample_record.c support/sample_letter.c)
