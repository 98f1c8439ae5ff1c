package dev.isola.host.network;

import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

/** The nftables rules of one installation, in a table of their own. */
final class NftRules {
  private static final NetworkProgram NFT = NetworkProgram.of("nft");

  /**
   * Limit of tracked connections per sandbox, so that one cannot fill the host's connection table.
   */
  private static final int CONNECTIONS = 4096;

  private final String table;
  private final String group;

  NftRules(InstanceId instance) {
    this.table = "inet isola-" + instance;
    this.group = VethLink.group(instance);
  }

  /** Creates or replaces the rules atomically. Connection counts are kept. */
  void apply(List<String> resolvers) throws IOException {
    try {
      NFT.run(text(resolvers), "-f", "-");
    } catch (IOException e) {
      // Another version of Isola may have left an incompatible table.
      NFT.run(removal() + text(resolvers), "-f", "-");
    }
  }

  /** Removes the rules if they exist. */
  void remove() throws IOException {
    NFT.run(removal(), "-f", "-");
  }

  private String removal() {
    return "add table %1$s\ndelete table %1$s\n".formatted(table);
  }

  /**
   * Returns the rules. From a sandbox: reject packets to the host, accept DNS to the given servers,
   * reject blocked ranges, and masquerade the rest. To a sandbox: accept only replies.
   */
  String text(List<String> resolvers) {
    String servers =
        resolvers.isEmpty()
            ? ""
            : "add element %s resolvers { %s }".formatted(table, String.join(", ", resolvers));
    return """
    add table %1$s
    add set %1$s refused { type ipv4_addr; flags interval; }
    add set %1$s resolvers { type ipv4_addr; }
    add set %1$s connections { type ipv4_addr; flags dynamic; size 65536; }
    add chain %1$s input { type filter hook input priority filter - 10; }
    add chain %1$s forward { type filter hook forward priority filter - 10; }
    add chain %1$s postrouting { type nat hook postrouting priority srcnat; }
    add chain %1$s leaving
    flush table %1$s
    flush set %1$s refused
    flush set %1$s resolvers
    add element %1$s refused { %3$s }
    %4$s
    add rule %1$s input iifgroup %2$s reject with icmpx admin-prohibited
    add rule %1$s forward iifgroup %2$s jump leaving
    add rule %1$s forward oifgroup %2$s ct direction reply ct state established,related accept
    add rule %1$s forward oifgroup %2$s drop
    add rule %1$s leaving meta nfproto != ipv4 drop
    add rule %1$s leaving ip saddr != %5$s drop
    add rule %1$s leaving ct state new add @connections { ip saddr ct count over %6$d } reject
    add rule %1$s leaving ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept
    add rule %1$s leaving ip daddr @refused reject with icmpx admin-prohibited
    add rule %1$s postrouting ip saddr %5$s oifgroup != %2$s masquerade
    """
        .formatted(
            table,
            group,
            BlockedRanges.RANGES.stream().map(Ipv4Range::text).collect(Collectors.joining(", ")),
            servers,
            AddressPool.RANGE.text(),
            CONNECTIONS);
  }
}
