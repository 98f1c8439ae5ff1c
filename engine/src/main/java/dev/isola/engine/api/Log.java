package dev.isola.engine.api;

/** Where the engine says what a person who runs it should know. One sentence each, no secrets. */
public interface Log {
  void info(String sentence);

  void warning(String sentence);

  /** Returns a log that goes where the JVM's own platform log goes. */
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
