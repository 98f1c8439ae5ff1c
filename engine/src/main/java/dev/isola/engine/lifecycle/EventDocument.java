package dev.isola.engine.lifecycle;

import dev.isola.codec.json.Json;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Builds the type and JSON document of sandbox events. */
final class EventDocument {

  private EventDocument() {}

  static String type(@Nullable SandboxState from, SandboxState to) {
    return switch (to) {
      case CREATING -> "spawn";
      case RUNNING -> from == SandboxState.CREATING ? "ready" : "stateChange";
      case ERROR -> "error";
      case DESTROYED -> "terminate";
      case PAUSED, STOPPED, TERMINATING -> "stateChange";
    };
  }

  static String of(SandboxEntry entry, @Nullable SandboxState from) {
    Map<String, Object> data = new LinkedHashMap<>();
    if (from != null) {
      data.put("from", lowerCase(from));
    }
    data.put("to", lowerCase(entry.state()));
    data.put("provider", entry.provider());
    data.put("isolation", entry.isolation().name().toLowerCase(Locale.ROOT));
    entry.cause().ifPresent(cause -> data.put("cause", cause));
    return Json.text(data);
  }

  private static String lowerCase(SandboxState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
