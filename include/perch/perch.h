/* Everything that libperch offers. */
#ifndef PERCH_PERCH_H
#define PERCH_PERCH_H

#include <perch/agent.h>
#include <perch/base.h>
#include <perch/fledge.h>
#include <perch/host.h>
#include <perch/json.h>
#include <perch/loop.h>
#include <perch/sandbox.h>
#include <perch/service.h>
#include <perch/sessions.h>
#include <perch/tool.h>

#endif
