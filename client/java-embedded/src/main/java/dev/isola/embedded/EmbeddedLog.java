package dev.isola.embedded;

import dev.isola.app.serve.ServerLog;

/** Log of an embedded engine, in the platform logger: warnings as such, the rest for debugging. */
final class EmbeddedLog implements ServerLog {
  private final System.Logger logger = System.getLogger("dev.isola.embedded");

  @Override
  public void info(String sentence) {
    logger.log(System.Logger.Level.DEBUG, sentence);
  }

  @Override
  public void warning(String sentence) {
    logger.log(System.Logger.Level.WARNING, sentence);
  }

  @Override
  public void write(Line request) {
    logger.log(
        System.Logger.Level.TRACE,
        () ->
            request.status()
                + " "
                + request.method()
                + " "
                + request.route()
                + " "
                + request.millis()
                + " ms");
  }
}
