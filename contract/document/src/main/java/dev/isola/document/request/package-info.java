/**
 * What a client asks of the engine: a spec for the provider, and around it what the engine alone
 * decides by. Providers never see it.
 */
@NullMarked
package dev.isola.document.request;

import org.jspecify.annotations.NullMarked;
