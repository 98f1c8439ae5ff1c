package dev.isola.provider.kubernetes;

import dev.isola.codec.json.JsonValue;
import dev.isola.provider.kubernetes.api.ObjectWatch;
import java.util.List;
import java.util.function.Consumer;

/**
 * Passes on which pods had a container start, from the events of a namespace.
 *
 * @param started takes the uid of a pod
 */
record StartListener(Consumer<String> started) implements ObjectWatch.Listener {
  @Override
  public void listed(List<JsonValue> objects) {
    objects.forEach(this::changed);
  }

  @Override
  public void changed(JsonValue event) {
    started.accept(event.text("involvedObject", "uid"));
  }

  @Override
  public void deleted(JsonValue event) {
    // The cluster forgets its events after some time.
  }
}
