# Where both revisions find components.
set_global_assignment -name SEARCH_PATH "$::env(ALTERAOCLSDKROOT)/ip"
