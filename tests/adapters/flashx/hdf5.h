typedef long hid_t;
