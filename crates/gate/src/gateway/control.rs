//! The state that the parts of a gateway share beside the data path, and how a configuration is changed: checked as a
//! whole, then put in force in one step.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::config_changes::{ConfigChange, ConfigChanges, Outcome, refusal};
use super::config_files::{BODY, Written, admin_token, load_line, read_text};
use super::fixed_settings::{Fixed, report_every_s};
use super::listener_certificates::ListenerCertificates;
use super::loading::{Used, have_quotas, load, record_names};
use super::neighbours::Neighbours;
use super::takeover_usage::{Awaited, OwnReports};
use super::{GatewayError, Reloaded, Setup, Troubles, notes, preflight, resolve, troubles};
use crate::access::Writer;
use crate::config::{Built, Config, ConfigError, KeysConfig, LONGEST};
use crate::health::Health;
use crate::keys::{Keys, Stamp, Store, new_key};
use crate::path::{PathCounts, PathReader, Trust};
use crate::policy::{Current, Policy, PolicySettings, State};
use crate::shared::Link;
use crate::usage::{Collector, Reader, Reporter};

/// The state of the ceiling.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// Ceiling / load line, 0..=1; 1 without a load line.
    pub factor: f64,
    /// The live percentile of the envelope, where there were enough responses.
    pub latency_ns: Option<u64>,
    /// Why the load line does not fit, if it does not.
    pub misfit: Option<String>,
}

/// When keys are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    Never,
    /// Once the store has, or had, a key.
    WithKeys,
    Always,
}

impl Asking {
    fn of(written: &KeysConfig) -> Self {
        let required = written.required.as_ref().is_some_and(|required| *required.get_ref());
        match (written.open, required) {
            (true, _) => Self::Never,
            (false, true) => Self::Always,
            (false, false) => Self::WithKeys,
        }
    }

    pub(super) fn asks(self, has_keys: bool) -> bool {
        match self {
            Self::Never => false,
            Self::WithKeys => has_keys,
            Self::Always => true,
        }
    }
}

/// What may change while a gateway runs.
#[derive(Debug)]
pub(super) struct Changing {
    pub(super) store: Store,
    /// Changes of the store up to this number were seen.
    pub(super) seen: u64,
    /// The configuration in force, as it was written; empty for flags.
    pub(super) text: String,
    pub(super) settings: PolicySettings,
    pub(super) asking: Asking,
    /// The store has, or had, a key: revoked ones count, so that revoking the last one opens nothing.
    pub(super) has_keys: bool,
    /// What came of the start, or of the last reload.
    pub(super) outcome: Reloaded,
    /// Policies that are no longer in force, and by which some thread may still go.
    former: Vec<Arc<Policy>>,
}

/// What runs beside a control.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) log: Option<Arc<Writer>>,
    pub(super) link: Option<Arc<Link>>,
    pub(super) shown: ListenerCertificates,
}

/// The control of a gateway.
#[derive(Debug)]
pub struct Control {
    setup: Setup,
    store_path: PathBuf,
    admin: Option<std::net::SocketAddr>,
    token: String,
    token_is_made: bool,
    pub(super) current: Arc<Current>,
    pub(super) health: Arc<Health>,
    state: Arc<State>,
    usage: Reader,
    beside: Beside,
    path: OnceLock<PathReader>,
    neighbours: OnceLock<Neighbours>,
    pub(super) changing: Mutex<Changing>,
    standing: Mutex<Standing>,
    /// What is known of usage while another gateway still serves that this one takes over, where there are quotas. Gateways
    /// that share limits tell each other. Locked after `changing`.
    pub(super) awaited: Mutex<Option<Awaited>>,
    fixed: Fixed,
    /// The file of the store that is open.
    store_file: Option<(u64, u64)>,
    troubles: Troubles,
    config_changes: ConfigChanges,
}

/// The configuration that a setup asks for, and its text.
pub(super) fn read(setup: &Setup) -> Result<(Config, String), GatewayError> {
    let Some(path) = &setup.file else { return Ok((setup.flags.clone(), String::new())) };
    let text = read_text(path, LONGEST)
        .map_err(|error| GatewayError::File(format!("{}: {error}", path.display())))?;
    Ok((parsed(setup, &text, Some(path))?, text))
}

fn parsed(setup: &Setup, text: &str, file: Option<&Path>) -> Result<Config, GatewayError> {
    let wrong = |error| GatewayError::Config(file.map(Path::to_owned), error);
    let mut config = Config::parse(text).map_err(wrong)?;
    config.overrule(&setup.flags);
    Ok(config)
}

/// What a configuration means, with its load line.
pub(super) fn built(
    config: &Config,
    text: &str,
    file: Option<&Path>,
) -> Result<Built, GatewayError> {
    let written = Written { text, file };
    let named = config.loadline.as_ref();
    let line = named.map(|path| load_line(path.get_ref())).transpose();
    let line = line.map_err(written.named("loadline", named))?.map(Arc::new);
    let mut built = Built::of(config, text, line, &resolve)
        .map_err(|error: ConfigError| GatewayError::Config(file.map(Path::to_owned), error))?;
    // The system's authorities are read only where an upstream speaks TLS.
    let named = config.authorities.as_ref();
    let mut servers = built.policy.upstreams.iter().flat_map(|upstream| &upstream.addresses);
    if named.is_some() || servers.any(|server| server.tls.is_some()) {
        let trust = Trust::read(named.map(|path| path.get_ref().as_path()));
        let trust = trust.map_err(GatewayError::File);
        built.policy.trust = Some(trust.map_err(written.named("authorities", named))?);
    }
    Ok(built)
}

impl Control {
    pub(super) fn new(
        setup: Setup,
        config: &Config,
        text: &str,
        built: Built,
        store_path: &Path,
        beside: Beside,
    ) -> Result<(Arc<Self>, Collector, Reporter), GatewayError> {
        let file = setup.file.clone();
        let written = Written { text, file: file.as_deref() };
        let store = Store::open(store_path).map_err(GatewayError::Store);
        let store = store.map_err(written.named("keys.store", config.keys.store.as_ref()))?;
        let count = store.count().map_err(GatewayError::Store)?;
        let keys = Arc::new(Keys::with_room(count as usize));
        let state = Arc::new(State::new(keys, seed()?));
        state.calendar.set(unix_s());
        let seen = store.last_change().map_err(GatewayError::Store)?;
        let loaded = load(&store, &state)?;
        let fixed = Fixed::of(config, &built);
        let Built { policy: mut settings, admin, .. } = built;
        // Usage of a month is read where it is needed alone.
        let has_quotas = loaded.has_quota || have_quotas(&settings);
        let read = || Used::read(&store, store_path, &settings.tiers, None);
        let used = has_quotas.then(read).transpose()?;
        used.iter().try_for_each(|used| used.begin(&store, &state, &settings))?;
        let awaited = used.filter(|_| setup.take_over && beside.link.is_none());
        let awaited = Mutex::new(awaited.map(|used| Awaited { used, own: OwnReports::default() }));
        record_names(&store, &settings)?;
        let notes = notes::all(&settings, &loaded.named, setup.machine.as_ref(), unix_s());
        let outcome = Reloaded { notes, ..Reloaded::default() };
        let (asking, has_keys) = (Asking::of(&config.keys), count > 0);
        settings.digester = asking.asks(has_keys).then(|| store.digester().clone());
        let policy = Policy::new(&state, settings.clone(), None).map_err(GatewayError::Names)?;
        if let Some(line) = policy.line() {
            state.ceiling.set(line, 1.0, policy.part(net::clock::now()));
        }
        let (collector, reporter) =
            Collector::new(Arc::clone(&state.usage), report_every_s(config));
        let (token, token_is_made) = match admin_token(config, written)? {
            Some(token) => (token, false),
            None => (new_key().map_err(GatewayError::Store)?, true),
        };
        let control = Self {
            setup,
            store_path: store_path.to_owned(),
            admin,
            token,
            token_is_made,
            current: Arc::new(Current::new(Arc::new(policy))),
            health: Arc::default(),
            state,
            usage: collector.reader(),
            beside,
            path: OnceLock::new(),
            neighbours: OnceLock::new(),
            changing: Mutex::new(Changing {
                store,
                seen,
                text: text.to_owned(),
                settings,
                asking,
                has_keys,
                outcome,
                former: Vec::new(),
            }),
            standing: Mutex::new(Standing { factor: 1.0, ..Standing::default() }),
            awaited,
            fixed,
            store_file: troubles::file_at(store_path),
            troubles: Troubles::default(),
            config_changes: ConfigChanges::default(),
        };
        Ok((Arc::new(control), collector, reporter))
    }

    /// Reads the configuration file again and puts it in force, whole or not at all; but for settings that change by a
    /// restart only, which the response names.
    ///
    /// # Errors
    /// What is wrong with it; nothing has changed then.
    pub fn reload(&self, by: &str) -> Result<Reloaded, GatewayError> {
        let file = self.setup.file.as_deref();
        let read_at = SystemTime::now();
        let outcome = read(&self.setup)
            .and_then(|(_, text)| self.change_to(Written { text: &text, file }, by));
        self.note(by, Some(read_at), &outcome);
        outcome
    }

    /// Puts a configuration in force that came as text.
    ///
    /// # Errors
    /// As [`Self::reload`].
    pub fn replace(&self, text: &str, by: &str) -> Result<Reloaded, GatewayError> {
        let outcome = self.change_to(Written { text, file: Some(Path::new(BODY)) }, by);
        self.note(by, None, &outcome);
        outcome
    }

    /// What [`Self::reload`] and [`Self::replace`] were asked for since this was last called, oldest first.
    pub fn take_config_changes(&self) -> VecDeque<ConfigChange> {
        self.config_changes.take()
    }

    /// Notes the outcome of a change, to be printed; in the audit log too where it was refused.
    fn note(&self, by: &str, read_at: Option<SystemTime>, outcome: &Outcome) {
        if let Err(error) = outcome {
            let stamp = Stamp { at_s: unix_s(), by };
            // A store that cannot be written is a trouble of its own; the refusal is printed in any case.
            let _ = self.changing().store.note(&refusal(error), &stamp);
        }
        self.config_changes.note(by, read_at, outcome);
    }

    fn change_to(&self, written: Written<'_>, by: &str) -> Result<Reloaded, GatewayError> {
        let Written { text, file } = written;
        let config = match text {
            "" => self.setup.flags.clone(),
            text => parsed(&self.setup, text, file)?,
        };
        let built = built(&config, text, file)?;
        let waits_for_restart = self.fixed.waiting(&Fixed::of(&config, &built));
        preflight::of_restart(&config, &waits_for_restart, written)?;
        let shown = ListenerCertificates::read(&config, &built, written)?;
        let mut changing = self.changing();
        let mut settings = built.policy;
        self.know_used(&changing, &settings)?;
        let asking = Asking::of(&config.keys);
        let policy = self.policy_of(&changing, &mut settings, asking)?;
        // Whatever may fail comes before the policy is in force.
        record_names(&changing.store, &settings)?;
        self.note_change(&changing, text, &policy, &Stamp { at_s: unix_s(), by })?;
        self.beside.shown.renew(&shown);
        self.put_in_force(&mut changing, policy);
        let notes = match changing.store.named_by_keys() {
            Ok(named) => notes::all(&settings, &named, self.setup.machine.as_ref(), unix_s()),
            Err(error) => {
                vec![format!("{error}: whether keys name what there is was not looked at")]
            }
        };
        (changing.settings, changing.asking) = (settings, asking);
        changing.text = text.to_owned();
        changing.outcome = Reloaded { waits_for_restart, notes };
        Ok(changing.outcome.clone())
    }

    /// What came of the start, or of the last reload that was not refused.
    pub fn outcome(&self) -> Reloaded {
        self.changing().outcome.clone()
    }

    /// What goes wrong beside the path of requests.
    pub fn troubles(&self) -> &Troubles {
        &self.troubles
    }

    /// Looks at the files and the server beside the path of requests. `store` is what came of the last look into the store.
    pub(super) fn look_for_troubles(&self, store: Option<&GatewayError>) {
        let unread = store.map(|error| format!("{error}: changes of keys are not followed"));
        let gone = troubles::of_store(&self.store_path, self.store_file);
        self.troubles.set("key store", gone.or(unread));
        let log = self.log().and_then(|log| log.error());
        let log =
            log.map(|why| format!("access log {why}: its lines are lost, and counted as failed"));
        self.troubles.set("access log", log);
        let sink = self.usage.sink_error();
        let sink =
            sink.map(|why| format!("usage cannot be written: {why}; it is kept and tried again"));
        self.troubles.set("usage", sink);
        self.troubles.set("load line", self.standing().misfit);
        self.troubles.set("certificate", self.beside.shown.expired(unix_s()));
        let alone = self.link().and_then(|link| link.view().error);
        let own = self.policy().part(net::clock::now()).own();
        let alone = alone.as_deref().map(|why| troubles::of_shared(why, own));
        self.troubles.set("shared limits", alone);
        self.look_for_neighbours();
    }

    /// Looks for other gateways of the store, where limits are not shared.
    fn look_for_neighbours(&self) {
        let neighbours = self.neighbours.get().filter(|_| self.link().is_none());
        let other = neighbours.and_then(|neighbours| neighbours.look(&self.store_path));
        let other = other.map(|place| troubles::of_neighbour(&self.store_path, &place));
        self.troubles.set("limits and quotas", other);
    }

    /// Takes what distinguishes other gateways of the store from this one, and looks for one.
    pub(super) fn know_neighbours(&self, neighbours: Neighbours) {
        // It is started once.
        let _ = self.neighbours.set(neighbours);
        self.look_for_neighbours();
    }

    pub(super) fn publish(&self, changing: &mut Changing) -> Result<(), GatewayError> {
        let mut settings = changing.settings.clone();
        let policy = self.policy_of(changing, &mut settings, changing.asking)?;
        changing.settings = settings;
        self.put_in_force(changing, policy);
        Ok(())
    }

    /// The policy of these settings, in which it sets whether keys are asked for.
    fn policy_of(
        &self,
        changing: &Changing,
        settings: &mut PolicySettings,
        asking: Asking,
    ) -> Result<Arc<Policy>, GatewayError> {
        let digester = || changing.store.digester().clone();
        settings.digester = asking.asks(changing.has_keys).then(digester);
        let policy = Policy::new(&self.state, settings.clone(), Some(&self.policy()));
        policy.map(Arc::new).map_err(GatewayError::Names)
    }

    fn put_in_force(&self, changing: &mut Changing, policy: Arc<Policy>) {
        let before = self.policy();
        self.current.replace(Arc::clone(&policy));
        self.hold();
        policy.forget_waits(&before, net::clock::now());
        changing.former.push(before);
    }

    /// Forgets the waits of former policies once more when nobody goes by them any longer: until a worker looks for another
    /// one, requests take by the old rates. So it does not matter how soon one policy follows another.
    pub(super) fn forget_former(&self, changing: &mut Changing) {
        let policy = self.policy();
        changing.former.retain_mut(|before| {
            let in_use = Arc::get_mut(before).is_none();
            if !in_use {
                policy.forget_waits(before, net::clock::now());
            }
            in_use
        });
    }

    /// Looks at keys and changes in the store.
    pub fn with_store<T>(&self, look: impl FnOnce(&Store) -> T) -> T {
        look(&self.changing().store)
    }

    /// The policy in force.
    pub fn policy(&self) -> Arc<Policy> {
        self.current.get().0
    }

    /// What all policies share.
    pub fn state(&self) -> &Arc<State> {
        &self.state
    }

    /// The servers of all upstreams.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// What was counted.
    pub fn usage(&self) -> &Reader {
        &self.usage
    }

    /// What the data path counted; nothing before it has started.
    pub fn path(&self) -> PathCounts {
        self.path.get().map(PathReader::counts).unwrap_or_default()
    }

    /// Takes what the data path counts from there, which is started later than this.
    pub(super) fn count_by(&self, path: PathReader) {
        // It is started once.
        let _ = self.path.set(path);
    }

    /// The access log, where there is one.
    pub fn log(&self) -> Option<&Writer> {
        self.beside.log.as_deref()
    }

    /// The link to the server by which limits are shared, where they are.
    pub fn link(&self) -> Option<&Link> {
        self.beside.link.as_deref()
    }

    /// The configuration in force as it was written; empty where flags are all there is.
    pub fn text(&self) -> String {
        self.changing().text.clone()
    }

    /// The file of keys and usage.
    pub fn store_path(&self) -> &Path {
        &self.store_path
    }

    /// The state of the ceiling.
    pub fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts the ceiling where it stands, by the part of the line that this gateway holds now.
    pub(super) fn hold(&self) {
        let policy = self.policy();
        if let Some(line) = policy.line() {
            let part = policy.part(net::clock::now());
            self.state.ceiling.set(line, self.standing().factor, part);
        }
    }

    pub(super) fn stand(&self, standing: Standing) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    /// Whether a text is the token that the admin API asks for. Takes as long whatever is alike.
    pub fn is_token(&self, text: &[u8]) -> bool {
        let pairs = text.iter().zip(self.token.as_bytes());
        let differences = pairs.fold(0, |all, (a, b)| all | (a ^ b));
        text.len() == self.token.len() && differences == 0
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(super) fn admin_address(&self) -> Option<std::net::SocketAddr> {
        self.admin
    }

    pub(super) fn made_token(&self) -> Option<&str> {
        self.token_is_made.then_some(&*self.token)
    }

    pub(super) fn changing(&self) -> MutexGuard<'_, Changing> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn seed() -> Result<u64, GatewayError> {
    let key = new_key().map_err(GatewayError::Store)?;
    let digits = key.get(key.len() - 16..).unwrap_or_default();
    Ok(u64::from_str_radix(digits, 16).unwrap_or_default())
}

/// Seconds since the epoch.
pub(super) fn unix_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
