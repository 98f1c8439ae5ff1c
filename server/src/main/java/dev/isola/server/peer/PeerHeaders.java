package dev.isola.server.peer;

import dev.isola.server.forward.Header;
import dev.isola.server.forward.ResponseHead;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Headers of requests between servers. Credentials of clients stay with the first server. */
final class PeerHeaders {
  private static final String SUBPROTOCOLS = "Sec-WebSocket-Protocol";

  /** Headers that concern one connection only, or that this server writes anew. */
  private static final Set<String> HOP_BY_HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-connection",
          "proxy-authenticate",
          "proxy-authorization",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "content-length",
          "expect",
          "date",
          "http2-settings");

  private PeerHeaders() {}

  /** Returns the protocol that a client asks to upgrade to, if any. */
  static Optional<String> requestedUpgrade(List<Header> headers) {
    boolean requested =
        words(headers, "Connection").anyMatch(word -> word.equalsIgnoreCase("upgrade"));
    return Header.first(headers, "Upgrade")
        .filter(word -> requested && !word.toLowerCase(Locale.ROOT).startsWith("h2"));
  }

  private static Stream<String> words(List<Header> headers, String name) {
    return Header.values(headers, name).stream()
        .flatMap(value -> Stream.of(value.split(",", -1)))
        .map(String::strip);
  }

  /**
   * Returns the headers of a client's request that the owner gets.
   *
   * @param secrets the credentials of the client, which the owner does not get
   */
  static List<Header> toOwner(List<Header> sent, List<String> secrets) {
    Set<String> dropped = dropped(sent);
    dropped.add("cookie");
    dropped.add(PeerServers.HEADER.toLowerCase(Locale.ROOT));
    List<Header> headers = new ArrayList<>();
    for (Header one : sent) {
      boolean secret =
          secrets.stream().anyMatch(each -> !each.isEmpty() && one.value().contains(each));
      if (secret && one.is(SUBPROTOCOLS)) {
        String rest =
            words(List.of(one), SUBPROTOCOLS)
                .filter(word -> secrets.stream().noneMatch(word::contains))
                .collect(Collectors.joining(", "));
        headers.add(new Header(one.name(), rest));
      } else if (!secret && !dropped.contains(one.name().toLowerCase(Locale.ROOT))) {
        headers.add(one);
      }
    }
    return headers;
  }

  /** Returns the headers of the owner's response that the client gets. */
  static List<Header> toClient(ResponseHead head) {
    Set<String> dropped = dropped(head.headers());
    dropped.add(PeerServers.HEADER.toLowerCase(Locale.ROOT));
    List<Header> headers = new ArrayList<>();
    for (Header one : head.headers()) {
      if (!dropped.contains(one.name().toLowerCase(Locale.ROOT))) {
        headers.add(one);
      }
    }
    if (head.isSwitchingProtocols()) {
      headers.add(new Header("Connection", "Upgrade"));
      Header.first(head.headers(), "Upgrade")
          .ifPresent(word -> headers.add(new Header("Upgrade", word)));
    }
    return headers;
  }

  /** Returns whether this is the response of a server that does not own the sandbox. */
  static boolean isMoved(ResponseHead head) {
    return head.status() == PeerServers.MISDIRECTED
        && Header.values(head.headers(), PeerServers.HEADER).contains(PeerServers.MOVED);
  }

  /** Returns whether the owner closes the connection after its response. */
  static boolean closes(ResponseHead head) {
    return words(head.headers(), "Connection").anyMatch(word -> word.equalsIgnoreCase("close"));
  }

  private static Set<String> dropped(List<Header> headers) {
    Set<String> dropped = new HashSet<>(HOP_BY_HOP);
    words(headers, "Connection")
        .map(word -> word.toLowerCase(Locale.ROOT))
        .filter(word -> !word.equals("host"))
        .forEach(dropped::add);
    return dropped;
  }
}
