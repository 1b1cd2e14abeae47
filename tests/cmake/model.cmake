# The executable models of docs/frontier.md still hold. More seeds: python3 tests/model/frontier_model.py 0 5000
add_test(NAME frontier_model COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/model/frontier_model.py 0 150)
add_test(NAME frontier_model_inflight
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/model/frontier_model_inflight.py 0 100)
# A model that catches nothing proves nothing: without R2 it has to fail at once.
add_test(NAME frontier_model_without_r2
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/model/frontier_model_inflight.py 0 20 r2=False)
set_tests_properties(frontier_model_without_r2 PROPERTIES WILL_FAIL ON)
set_tests_properties(frontier_model frontier_model_inflight frontier_model_without_r2 PROPERTIES LABELS model TIMEOUT 300)

# Schedules that people steer (R10, dedupe, recurrences, moves): all hold, and each rule that is broken on purpose makes a seed fail.
add_test(NAME frontier_model_schedules
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/model/frontier_model_schedules.py 0 400)
add_test(NAME frontier_model_schedules_broken
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/model/frontier_model_schedules.py broken)
set_tests_properties(frontier_model_schedules frontier_model_schedules_broken PROPERTIES LABELS "model;schedules" TIMEOUT 300)
