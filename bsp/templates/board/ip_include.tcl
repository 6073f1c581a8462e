# Where the OpenCL SDK's components are.
set_global_assignment -name SEARCH_PATH "$::env(ALTERAOCLSDKROOT)/ip"
