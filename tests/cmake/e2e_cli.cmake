# Every verb with the real daemon.
tarry_e2e(e2e_cli 240 cli)
target_sources(e2e_cli PRIVATE support/cli_program.c)
target_link_libraries(e2e_cli PRIVATE PkgConfig::CJSON)
