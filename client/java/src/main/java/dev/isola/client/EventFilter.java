package dev.isola.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Selects lifecycle events.
 *
 * @param types such as ready, stateChange or terminate; if empty, all
 * @param sandboxes ids; if empty, all
 * @param after number of the last known event; if empty, only new events
 */
public record EventFilter(List<String> types, List<String> sandboxes, Optional<Long> after) {
  /** All new events. */
  public static final EventFilter ALL = new EventFilter(List.of(), List.of(), Optional.empty());

  public EventFilter {
    types = List.copyOf(types);
    sandboxes = List.copyOf(sandboxes);
  }

  /** Returns a filter that also matches this type. */
  public EventFilter type(String type) {
    return new EventFilter(and(types, type), sandboxes, after);
  }

  /** Returns a filter that also matches events of this sandbox. */
  public EventFilter sandbox(String id) {
    return new EventFilter(types, and(sandboxes, id), after);
  }

  /** Returns a filter that begins after an event; 0 for the oldest event that is stored. */
  public EventFilter after(long number) {
    return new EventFilter(types, sandboxes, Optional.of(number));
  }

  private static List<String> and(List<String> words, String word) {
    List<String> more = new ArrayList<>(words);
    more.add(word);
    return more;
  }

  ApiPath applyTo(ApiPath events) {
    ApiPath all = events.query("type", types).query("sandbox", sandboxes);
    return after.isPresent() ? all.query("after", after.get()) : all;
  }
}
