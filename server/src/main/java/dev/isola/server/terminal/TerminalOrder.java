package dev.isola.server.terminal;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.TerminalSize;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What somebody at a terminal can ask for besides typing. */
sealed interface TerminalOrder {
  record Resize(TerminalSize size) implements TerminalOrder {}

  record Send(Signal signal) implements TerminalOrder {}

  record Nonsense(String why) implements TerminalOrder {}

  /** Reads a text frame, which may be anything. */
  static TerminalOrder read(String text) {
    @Nullable Object read;
    try {
      read = Json.parse(text);
    } catch (MalformedJson e) {
      return new Nonsense("it is not JSON");
    }
    if (!(read instanceof Map<?, ?> order)) {
      return new Nonsense("it is not an object");
    }
    if ("resize".equals(order.get("type")) && order.size() == 3) {
      return size(order.get("rows"), order.get("cols"));
    }
    if ("signal".equals(order.get("type")) && order.size() == 2) {
      Optional<Signal> signal =
          order.get("signal") instanceof String name ? Signal.parse(name) : Optional.empty();
      return signal.<TerminalOrder>map(Send::new).orElse(new Nonsense("that is no signal"));
    }
    return new Nonsense("its type or its fields are not known");
  }

  private static TerminalOrder size(@Nullable Object rows, @Nullable Object cols) {
    return rows instanceof Integer height
            && cols instanceof Integer width
            && height >= 1
            && height <= 65_535
            && width >= 1
            && width <= 65_535
        ? new Resize(new TerminalSize(width, height))
        : new Nonsense("rows and cols are whole numbers from 1 to 65535");
  }
}
