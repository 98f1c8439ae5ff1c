package dev.isola.embedded;

import dev.isola.client.embedded.EmbeddedEngine;
import dev.isola.client.embedded.EmbeddedEngineFactory;
import dev.isola.client.embedded.EmbeddedOptions;
import dev.isola.client.error.Problem;
import dev.isola.spi.error.SandboxException;

/** Starts engines for {@code Isola.embedded()}. */
public final class ServerEngineFactory implements EmbeddedEngineFactory {
  @Override
  public EmbeddedEngine start(EmbeddedOptions options) {
    try {
      return ServerEngine.start(options);
    } catch (SandboxException e) {
      throw Problem.clientSide(e.code().name(), e.fault().problem(), e.fault().remedy())
          .exception(e);
    }
  }
}
