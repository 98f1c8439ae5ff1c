package dev.isola.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Selects the sandboxes to list.
 *
 * @param states if empty, all states except destroyed
 * @param tags as NAME=VALUE; all of them must match
 * @param reference the name, the id, or at least the first 3 characters of the id
 */
public record SandboxFilter(
    List<String> states, List<String> tags, Optional<String> provider, Optional<String> reference) {
  public static final SandboxFilter ALL =
      new SandboxFilter(List.of(), List.of(), Optional.empty(), Optional.empty());

  public SandboxFilter {
    states = List.copyOf(states);
    tags = List.copyOf(tags);
  }

  public SandboxFilter state(String state) {
    return new SandboxFilter(and(states, state), tags, provider, reference);
  }

  public SandboxFilter tag(String name, String value) {
    return new SandboxFilter(states, and(tags, name + "=" + value), provider, reference);
  }

  public SandboxFilter provider(String name) {
    return new SandboxFilter(states, tags, Optional.of(name), reference);
  }

  /**
   * Selects the sandboxes with this name or id, or with an id that begins with it if it has at
   * least 3 characters.
   */
  public SandboxFilter reference(String nameOrId) {
    return new SandboxFilter(states, tags, provider, Optional.of(nameOrId));
  }

  private static List<String> and(List<String> words, String word) {
    List<String> more = new ArrayList<>(words);
    more.add(word);
    return more;
  }

  ApiPath applyTo(ApiPath list) {
    ApiPath all = list.query("state", states).query("tag", tags);
    if (reference.isPresent()) {
      all = all.query("ref", reference.get());
    }
    return provider.isPresent() ? all.query("provider", provider.get()) : all;
  }
}
