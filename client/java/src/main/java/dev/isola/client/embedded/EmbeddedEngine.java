package dev.isola.client.embedded;

/** An engine in this JVM, and the address and credential with which the client reaches it. */
public interface EmbeddedEngine extends AutoCloseable {
  /** Returns the URL, on the loopback interface. */
  String url();

  /** Returns the key, which exists in the memory of this process only. */
  String key();

  /** Destroys the sandboxes, stops the engine and removes its folder if it is temporary. */
  @Override
  void close();
}
