# The engine's cases as tests of ctest, so that `ctest -R histogram` tries one kernel without Python.
#
# A test runs the cases of one first word of tables.txt, and is named after the stage that they try
# most.  Words that no stage lists are cases of `boosting`, so that every case is in one test.
set(stages binning histogram joint losses pairs prediction rados trees votes)
set(words_of_binning bins)
set(words_of_histogram careful categories cells diffused lanes screens stump table)
set(words_of_joint joint)
set(words_of_losses alpha called exponential gboost ggauss glaplacian glog savage tabulated)
set(words_of_pairs pairs)
set(words_of_prediction prediction)
set(words_of_rados rados)
set(words_of_trees chance levels lines rule tree)
set(words_of_votes votes)

set(tables ${CMAKE_CURRENT_SOURCE_DIR}/cpp/selftest/tables.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables})
file(STRINGS ${tables} words)
list(TRANSFORM words REPLACE "[- ].*" "")
list(REMOVE_DUPLICATES words)
foreach(word ${words})
  set(its_stage boosting)
  foreach(stage ${stages})
    if(word IN_LIST words_of_${stage})
      set(its_stage ${stage})
    endif()
  endforeach()
  add_test(NAME ${its_stage}.${word} COMMAND properboost-tables ${tables} --only ${word})
endforeach()

# What is known of results but their bits.
add_test(NAME binning.codes COMMAND properboost-selftest codes)
add_test(NAME histogram.bundles COMMAND properboost-selftest bundles)
add_test(NAME losses.all-lanes COMMAND properboost-selftest losses)
add_test(NAME steps.equations COMMAND properboost-selftest equations)
