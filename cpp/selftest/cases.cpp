#include "cases.hpp"

#include "case_list.hpp"

namespace properboost::selftest {

std::vector<Case> make_cases(std::size_t rows) {
  CaseList list(rows);
  add_boosting(list);
  add_stages(list);
  return list.cases();
}

}  // namespace properboost::selftest
