package dev.isola.snapshot.s3;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.stream.Stream;

/** Resolves the names of one domain to this machine, for virtual-host addressing of buckets. */
public final class LocalNames extends InetAddressResolverProvider {
  static final String DOMAIN = "s3.isola.test";

  @Override
  public InetAddressResolver get(Configuration configuration) {
    InetAddressResolver others = configuration.builtinResolver();
    return new InetAddressResolver() {
      @Override
      public Stream<InetAddress> lookupByName(String host, LookupPolicy policy)
          throws UnknownHostException {
        return host.endsWith("." + DOMAIN)
            ? Stream.of(InetAddress.getByAddress(host, new byte[] {127, 0, 0, 1}))
            : others.lookupByName(host, policy);
      }

      @Override
      public String lookupByAddress(byte[] address) throws UnknownHostException {
        return others.lookupByAddress(address);
      }
    };
  }

  @Override
  public String name() {
    return "names of this machine for tests";
  }
}
