package dev.isola.codec.json;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;

/**
 * Thrown for input that is not JSON, exceeds a limit of the parser or is not the expected type of
 * value. The message gives the reason and the position, and never quotes the input.
 */
public final class MalformedJson extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MalformedJson(String reason) {
    super(reason);
  }

  MalformedJson(String reason, @Nullable TokenStreamLocation location) {
    super(reason + at(location));
  }

  MalformedJson(String reason, JacksonException cause) {
    this(reason, cause.getLocation());
  }

  private static String at(@Nullable TokenStreamLocation location) {
    return location == null || location.getLineNr() < 1
        ? ""
        : " at line " + location.getLineNr() + ", column " + location.getColumnNr();
  }
}
