package dev.isola.app.serve;

import dev.isola.engine.api.Log;
import dev.isola.server.AccessLog;

/** Log of a server: messages for operators and completed requests. */
public interface ServerLog extends Log, AccessLog {}
