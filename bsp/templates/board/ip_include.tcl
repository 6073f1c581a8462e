# The directory of the OpenCL SDK's components.
set_global_assignment -name SEARCH_PATH "$::env(ALTERAOCLSDKROOT)/ip"
