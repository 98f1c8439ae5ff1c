package dev.isola.egress.http;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** The authorities by which certificates of servers are verified. Revocation is not checked. */
public final class UpstreamTrust {
  private final SSLContext context;

  private UpstreamTrust(SSLContext context) {
    this.context = context;
  }

  /** Trusts the authorities of the JDK, and others in addition: those of the operator. */
  public static UpstreamTrust withAdditional(Collection<X509Certificate> authorities) {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      int number = 0;
      for (TrustManager manager : factory(null).getTrustManagers()) {
        if (manager instanceof X509TrustManager known) {
          for (X509Certificate authority : known.getAcceptedIssuers()) {
            store.setCertificateEntry("jdk-" + number++, authority);
          }
        }
      }
      for (X509Certificate authority : authorities) {
        store.setCertificateEntry("operator-" + number++, authority);
      }
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, factory(store).getTrustManagers(), null);
      return new UpstreamTrust(context);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("the certificate authorities of the JDK cannot be used", e);
    }
  }

  private static TrustManagerFactory factory(@Nullable KeyStore store)
      throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory;
  }

  SSLContext context() {
    return context;
  }
}
