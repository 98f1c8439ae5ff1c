package dev.isola.client.embedded;

/** Starts an engine in this JVM. Found by {@link java.util.ServiceLoader}. */
public interface EmbeddedEngineFactory {
  /**
   * Starts an engine. Returns when sandboxes can be created.
   *
   * @throws dev.isola.client.error.IsolaException if it cannot be started; nothing is left behind
   */
  EmbeddedEngine start(EmbeddedOptions options);
}
