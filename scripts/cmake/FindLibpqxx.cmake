# Finds libpqxx, which brings no CMake package in Debian: Libpqxx::Libpqxx, with libpq below it.
find_path(Libpqxx_INCLUDE_DIR pqxx/pqxx)
find_library(Libpqxx_LIBRARY pqxx)
find_library(Libpqxx_PQ_LIBRARY pq)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libpqxx REQUIRED_VARS Libpqxx_LIBRARY Libpqxx_PQ_LIBRARY Libpqxx_INCLUDE_DIR)
if(Libpqxx_FOUND AND NOT TARGET Libpqxx::Libpqxx)
  add_library(Libpqxx::Libpqxx UNKNOWN IMPORTED)
  set_target_properties(Libpqxx::Libpqxx PROPERTIES
    IMPORTED_LOCATION "${Libpqxx_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Libpqxx_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${Libpqxx_PQ_LIBRARY}")
endif()
