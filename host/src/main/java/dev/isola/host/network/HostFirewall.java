package dev.isola.host.network;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Firewalls of other programs, which may drop packets that Isola accepts and must not be changed:
 * Docker's, for example, drops forwarded packets by default.
 */
final class HostFirewall {
  private static final NetworkProgram NFT = NetworkProgram.of("nft");
  private static final Pattern TABLE = Pattern.compile("table (\\S+ \\S+) \\{.*");

  private HostFirewall() {}

  /** Returns the tables that drop forwarded packets and have no rule for interfaces of Isola. */
  static List<String> blockingTables() throws IOException {
    List<String> found = new ArrayList<>();
    for (String table : droppingTables(NFT.run("", "list", "chains"))) {
      List<String> words = new ArrayList<>(List.of("list", "table"));
      words.addAll(List.of(table.split(" ")));
      if (!NFT.run("", words.toArray(String[]::new)).contains(VethLink.PREFIX)) {
        found.add(table);
      }
    }
    return found;
  }

  static List<String> droppingTables(String chains) {
    List<String> found = new ArrayList<>();
    String table = "";
    for (String line : chains.lines().toList()) {
      Matcher head = TABLE.matcher(line);
      if (head.matches()) {
        table = head.group(1);
      } else if (line.contains(" hook forward ") && line.contains("policy drop")) {
        found.add(table);
      }
    }
    return found;
  }
}
