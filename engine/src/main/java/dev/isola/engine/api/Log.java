package dev.isola.engine.api;

/** The log for operators. Each message is one sentence and contains no secrets. */
public interface Log {
  void info(String sentence);

  void warning(String sentence);

  /** Returns a log that writes to the platform logger of the JVM. */
  static Log ofPlatform() {
    System.Logger logger = System.getLogger("dev.isola.engine");
    return new Log() {
      @Override
      public void info(String sentence) {
        logger.log(System.Logger.Level.INFO, sentence);
      }

      @Override
      public void warning(String sentence) {
        logger.log(System.Logger.Level.WARNING, sentence);
      }
    };
  }
}
