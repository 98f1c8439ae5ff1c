package dev.isola.app.serve;

import dev.isola.server.AccessLog;
import java.time.Instant;

/** Formats the lines of the server's log. */
interface LogLayout {

  /** Formats a message. The level is info or warning. The result has no trailing line break. */
  String message(Instant at, String level, String sentence);

  /** Formats a completed request. The result has no trailing line break. */
  String request(Instant at, AccessLog.Line request);
}
