package dev.isola.app.serve;

import dev.isola.server.AccessLog;
import java.time.Instant;

/** How a line of a server's log looks. */
interface LogLayout {

  /** Returns a sentence at a level, such as info or warning, without the end of the line. */
  String message(Instant at, String level, String sentence);

  /** Returns a request that was answered, without the end of the line. */
  String request(Instant at, AccessLog.Line request);
}
