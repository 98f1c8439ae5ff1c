package dev.isola.engine.api;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version of Isola, written by the build. */
public final class IsolaVersion {
  private static final String RESOURCE = "version.properties";

  private IsolaVersion() {}

  /** Returns the version, such as {@code 0.1.0}. */
  public static String current() {
    Properties properties = new Properties();
    try (InputStream in = IsolaVersion.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException("the build does not contain " + RESOURCE);
      }
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version");
  }
}
