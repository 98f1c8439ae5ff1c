package dev.isola.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Selects the sandboxes to list.
 *
 * @param states if empty, all states except destroyed
 * @param tags as NAME=VALUE; all of them must match
 */
public record SandboxFilter(List<String> states, List<String> tags, Optional<String> provider) {
  public static final SandboxFilter ALL = new SandboxFilter(List.of(), List.of(), Optional.empty());

  public SandboxFilter {
    states = List.copyOf(states);
    tags = List.copyOf(tags);
  }

  public SandboxFilter state(String state) {
    return new SandboxFilter(and(states, state), tags, provider);
  }

  public SandboxFilter tag(String name, String value) {
    return new SandboxFilter(states, and(tags, name + "=" + value), provider);
  }

  public SandboxFilter provider(String name) {
    return new SandboxFilter(states, tags, Optional.of(name));
  }

  private static List<String> and(List<String> words, String word) {
    List<String> more = new ArrayList<>(words);
    more.add(word);
    return more;
  }

  ApiPath applyTo(ApiPath list) {
    ApiPath all = list.query("state", states).query("tag", tags);
    return provider.isPresent() ? all.query("provider", provider.get()) : all;
  }
}
