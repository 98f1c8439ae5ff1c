package dev.isola.client.junit;

import dev.isola.client.Isola;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The client of a test run. JUnit closes it at the end of the run: as a {@code CloseableResource}
 * before JUnit 5.13, as an {@code AutoCloseable} since.
 */
@SuppressWarnings("deprecation") // JUnit 5.12 closes nothing else
record SharedClient(Isola isola)
    implements AutoCloseable, ExtensionContext.Store.CloseableResource {
  @Override
  public void close() {
    isola.close();
  }
}
