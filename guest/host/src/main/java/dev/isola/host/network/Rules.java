package dev.isola.host.network;

import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

/** The packet filter of one installation: a table of its own, which nothing else is put into. */
final class Rules {
  private static final Program NFT = Program.of("nft");

  private final String table;
  private final String group;

  Rules(InstanceId instance) {
    this.table = "inet isola-" + instance;
    this.group = Link.group(instance);
  }

  /** Puts the rules in place, or anew, in one step: there is no moment without them. */
  void apply(List<String> resolvers) throws IOException {
    NFT.run(text(resolvers), "-f", "-");
  }

  /** Takes them away, if they are there. */
  void remove() throws IOException {
    NFT.run("add table %1$s\ndelete table %1$s\n".formatted(table), "-f", "-");
  }

  /**
   * Returns the rules. From a sandbox: nothing to the host itself (whatever address it has), names
   * from the given servers, nothing to what is refused, the rest passes under the host's address.
   * To a sandbox: answers only.
   */
  String text(List<String> resolvers) {
    String servers =
        resolvers.isEmpty() ? "" : "elements = { " + String.join(", ", resolvers) + " }";
    String refused = Refused.RANGES.stream().map(Range::text).collect(Collectors.joining(", "));
    return """
    add table %1$s
    delete table %1$s
    table %1$s {
      set refused { type ipv4_addr; flags interval; elements = { %2$s }; }
      set resolvers { type ipv4_addr; %3$s; }
      chain input {
        type filter hook input priority filter - 10; policy accept;
        iifgroup %4$s reject with icmpx admin-prohibited
      }
      chain forward {
        type filter hook forward priority filter - 10; policy accept;
        iifgroup %4$s jump leaving
        oifgroup %4$s ct direction reply ct state established,related accept
        oifgroup %4$s drop
      }
      chain leaving {
        meta nfproto != ipv4 drop
        ip saddr != %5$s drop
        ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept
        ip daddr @refused reject with icmpx admin-prohibited
        accept
      }
      chain postrouting {
        type nat hook postrouting priority srcnat; policy accept;
        ip saddr %5$s oifgroup != %4$s masquerade
      }
    }
    """
        .formatted(table, refused, servers, group, Block.RANGE.text());
  }
}
