package dev.isola.provider.wrong;

import dev.isola.app.Main;
import dev.isola.provider.other.wrong.OtherProvider;
import java.util.logging.Logger;

/** Violates every rule for providers. */
final class WrongManager {
  private final Logger logger = Logger.getLogger("wrong");

  Class<?> forbidden() {
    return Main.class;
  }

  void chat(OtherProvider other) {
    logger.info("to the wrong log");
    System.out.println(other.hashCode());
  }
}
