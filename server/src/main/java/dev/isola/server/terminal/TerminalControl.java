package dev.isola.server.terminal;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.TerminalSize;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A control message of a terminal client. */
sealed interface TerminalControl {
  record Resize(TerminalSize size) implements TerminalControl {}

  record SendSignal(Signal signal) implements TerminalControl {}

  record Invalid(String why) implements TerminalControl {}

  /** Parses a text frame, which is untrusted. */
  static TerminalControl parse(String text) {
    @Nullable Object read;
    try {
      read = Json.parse(text);
    } catch (MalformedJson e) {
      return new Invalid("not JSON");
    }
    if (!(read instanceof Map<?, ?> message)) {
      return new Invalid("not an object");
    }
    if ("resize".equals(message.get("type")) && message.size() == 3) {
      return size(message.get("rows"), message.get("cols"));
    }
    if ("signal".equals(message.get("type")) && message.size() == 2) {
      Optional<Signal> signal =
          message.get("signal") instanceof String name ? Signal.parse(name) : Optional.empty();
      return signal.<TerminalControl>map(SendSignal::new).orElse(new Invalid("not a signal"));
    }
    return new Invalid("unknown type or fields");
  }

  private static TerminalControl size(@Nullable Object rows, @Nullable Object cols) {
    return rows instanceof Integer height
            && cols instanceof Integer width
            && height >= 1
            && height <= 65_535
            && width >= 1
            && width <= 65_535
        ? new Resize(new TerminalSize(width, height))
        : new Invalid("rows and cols must be integers from 1 to 65535");
  }
}
