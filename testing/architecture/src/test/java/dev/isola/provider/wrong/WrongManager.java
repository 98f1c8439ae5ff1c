package dev.isola.provider.wrong;

import dev.isola.app.Main;
import dev.isola.provider.other.wrong.OtherProvider;
import java.util.logging.Logger;

/** Breaks every rule that a provider can break. */
final class WrongManager {
  private final Logger logger = Logger.getLogger("wrong");

  Class<?> arrow() {
    return Main.class;
  }

  void chat(OtherProvider neighbour) {
    logger.info("to the wrong log");
    System.out.println(neighbour.hashCode());
  }
}
