package dev.isola.server.api;

import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.audit.AuditReader;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ByteBudget;
import dev.isola.server.oidc.OidcSignIn;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import dev.isola.server.route.Routes;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The table of all routes of the server. */
public final class Api {
  private Api() {}

  /**
   * Returns all routes.
   *
   * @param defaultProvider the provider of create requests that name none
   * @param version the version of Isola
   */
  public static Routes routes(
      ServerContext context, ApiKeys keys, String defaultProvider, String version) {
    return routes(
        context,
        keys,
        defaultProvider,
        version,
        List::of,
        ImageService.NONE,
        AuditReader.NONE,
        Optional.empty(),
        List.of());
  }

  /**
   * Returns all routes.
   *
   * @param defaultProvider the provider of create requests that name none
   * @param version the version of Isola
   * @param machine checks the host, apart from providers
   * @param images the images that sandboxes can start from
   * @param audit reads the audit log
   * @param signIn signs people in with an OpenID Connect provider, if one is configured
   * @param extensions other APIs; their routes have the same guards as the native ones
   */
  public static Routes routes(
      ServerContext context,
      ApiKeys keys,
      String defaultProvider,
      String version,
      Supplier<List<SetupStep>> machine,
      ImageService images,
      AuditReader audit,
      Optional<OidcSignIn> signIn,
      List<ApiExtension> extensions) {
    PortCredentials extensionCredentials =
        extensions.stream()
            .map(ApiExtension::portCredentials)
            .reduce(PortCredentials.NONE, PortCredentials::and);
    Optional<String> home = extensions.stream().flatMap(one -> one.home().stream()).findFirst();
    ByteBudget budget = ByteBudget.ofThisProcess();
    CreateBody body = new CreateBody(context, defaultProvider);
    OidcRoutes oidc = new OidcRoutes(signIn, keys);
    PortRoutes ports = new PortRoutes(context, keys, extensionCredentials);
    AtomicReference<List<Route>> table = new AtomicReference<>(List.of());
    List<Route> all =
        Stream.of(
                new SystemRoutes(context, table::get, version).routes(),
                new DocsRoutes(version, home, signIn.map(OidcSignIn::providerHost)).routes(),
                new SetupRoutes(context, machine).routes(),
                new SandboxRoutes(context, body).routes(),
                new SelectionRoutes(context, body).routes(),
                new StatusRoutes(context).routes(),
                new EgressRoutes(context).routes(),
                new ExecRoutes(context, budget).routes(),
                new ExecutionRoutes(context).routes(),
                new FileRoutes(context).routes(),
                new BatchRoutes(context, budget).routes(),
                new TreeRoutes(context).routes(),
                new WatchRoutes(context).routes(),
                new TokenRoutes(context, keys).routes(),
                ports.routes(),
                new SnapshotRoutes(context).routes(),
                new VolumeRoutes(context, defaultProvider).routes(),
                new VolumeFileRoutes(context).routes(),
                new TemplateRoutes(context).routes(),
                new TemplateBuildRoutes(context).routes(),
                new EventRoutes(context).routes(),
                new StatsRoutes(context).routes(),
                new ProviderRoutes(context).routes(),
                new ImageRoutes(images).routes(),
                new ImageBuildRoutes(context, images).routes(),
                new KeyRoutes(keys).routes(),
                new SessionRoutes(keys, version).routes(),
                oidc.routes(),
                new AuditRoutes(audit).routes(),
                new SecretRoutes(context).routes(),
                new ServerRoutes(context).routes())
            .flatMap(List::stream)
            .toList();
    table.set(all);
    Stream<Route> more =
        Stream.concat(
            Stream.of(oidc.callback(), ports.peerRoute()),
            extensions.stream().flatMap(one -> one.routes().stream()));
    HostAccessGuard guard = new HostAccessGuard(context);
    SandboxErrorRecorder errors = new SandboxErrorRecorder(context);
    return new Routes(
        Stream.concat(all.stream(), more).map(errors::wrap).map(guard::wrap).toList(), extensions);
  }
}
