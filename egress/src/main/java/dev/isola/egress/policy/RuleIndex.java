package dev.isola.egress.policy;

import dev.isola.spi.spec.AddressBlock;
import dev.isola.spi.spec.Destination;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the rule for a destination. The most specific one decides: the exact name, then the longest
 * suffix, then {@code *}; for an address the longest block. Of equally specific rules a denial
 * decides, then the first one. A rule for other ports does not match.
 */
final class RuleIndex {
  private final Map<String, List<EgressRule>> hosts = new HashMap<>();
  private final Map<String, List<EgressRule>> suffixes = new HashMap<>();
  private final List<EgressRule> anyName = new ArrayList<>();

  /** Blocks by the length of their prefix; of both IPv4 and IPv6. */
  private final List<Map<AddressBlock, List<EgressRule>>> blocks =
      new ArrayList<>(Collections.nCopies(129, Map.of()));

  RuleIndex(List<EgressRule> rules) {
    for (EgressRule rule : rules) {
      switch (Destination.parse(rule.destination()).orElseThrow()) {
        case Destination.Host(String name) -> add(hosts, name, rule);
        case Destination.Suffix(String suffix) -> add(suffixes, suffix, rule);
        case Destination.AnyName() -> anyName.add(rule);
        case Destination.Block(AddressBlock block) -> {
          Map<AddressBlock, List<EgressRule>> same = new HashMap<>(blocks.get(block.length()));
          add(same, block, rule);
          blocks.set(block.length(), same);
        }
      }
    }
  }

  private static <K> void add(Map<K, List<EgressRule>> map, K key, EgressRule rule) {
    map.computeIfAbsent(key, _ -> new ArrayList<>()).add(rule);
  }

  /** Returns the rule for a name in the form of {@link Destination#hostName}. */
  Optional<EgressRule> find(String name, int port) {
    Optional<EgressRule> found = decisive(hosts.get(name), port);
    for (int dot = name.indexOf('.');
        found.isEmpty() && dot >= 0;
        dot = name.indexOf('.', dot + 1)) {
      found = decisive(suffixes.get(name.substring(dot + 1)), port);
    }
    return found.isPresent() ? found : decisive(anyName, port);
  }

  /** Returns the rule for an address. */
  Optional<EgressRule> find(InetAddress address, int port) {
    Optional<EgressRule> found = Optional.empty();
    for (int length = address.getAddress().length * 8; found.isEmpty() && length >= 0; length--) {
      Map<AddressBlock, List<EgressRule>> same = blocks.get(length);
      if (!same.isEmpty()) {
        found = decisive(same.get(AddressBlock.of(address).truncated(length)), port);
      }
    }
    return found;
  }

  private static Optional<EgressRule> decisive(@Nullable List<EgressRule> rules, int port) {
    if (rules == null) {
      return Optional.empty();
    }
    List<EgressRule> matching =
        rules.stream()
            .filter(
                rule ->
                    rule.ports().isEmpty()
                        || rule.ports().stream().anyMatch(ports -> ports.contains(port)))
            .toList();
    return matching.stream()
        .filter(rule -> rule.action() == EgressAction.DENY)
        .findFirst()
        .or(() -> matching.stream().findFirst());
  }
}
