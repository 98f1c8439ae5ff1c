package dev.isola.egress.address;

import dev.isola.spi.spec.AddressBlock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.stream.Collectors;
import javax.naming.Context;
import javax.naming.NamingEnumeration;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.InitialDirContext;
import org.jspecify.annotations.Nullable;

/** Asks name servers that the operator chose. Nothing is cached. */
public final class DnsResolver implements NameResolver {
  private static final String TIMEOUT_MS = "2000";
  private static final String TRIES = "2";

  private final String servers;

  /**
   * @param servers {@code ADDRESS} or {@code ADDRESS:PORT} each; IPv6 addresses in brackets
   */
  public DnsResolver(List<String> servers) {
    this.servers = servers.stream().map(one -> "dns://" + one).collect(Collectors.joining(" "));
  }

  @Override
  @SuppressWarnings({
    "BanJNDI", // the servers are the operator's, and only addresses are read
    "JdkObsolete" // required by the constructor
  })
  public List<InetAddress> resolve(String name) throws UnknownHostException {
    List<InetAddress> found = new ArrayList<>();
    try {
      Hashtable<String, String> environment = new Hashtable<>();
      environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
      environment.put(Context.PROVIDER_URL, servers);
      environment.put("com.sun.jndi.dns.timeout.initial", TIMEOUT_MS);
      environment.put("com.sun.jndi.dns.timeout.retries", TRIES);
      InitialDirContext context = new InitialDirContext(environment);
      try {
        // One type in each query: for several, the context asks for ANY, which many servers refuse.
        for (String type : List.of("A", "AAAA")) {
          add(context.getAttributes(name + ".", new String[] {type}).get(type), found);
        }
      } finally {
        context.close();
      }
    } catch (NamingException e) {
      throw unknown(name, e);
    }
    if (found.isEmpty()) {
      throw new UnknownHostException(name);
    }
    return found;
  }

  private static void add(@Nullable Attribute records, List<InetAddress> found)
      throws NamingException {
    if (records == null) {
      return;
    }
    NamingEnumeration<?> all = records.getAll();
    while (all.hasMore()) {
      AddressBlock.address(String.valueOf(all.next())).ifPresent(found::add);
    }
  }

  private static UnknownHostException unknown(String name, NamingException cause) {
    UnknownHostException unknown = new UnknownHostException(name);
    unknown.initCause(cause);
    return unknown;
  }
}
